import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { DrillproofError } from '../errors.ts';
import { ioError } from '../node/index.ts';
import { putBack, takeOut } from './case-files.ts';
import type { SelftestCase } from './vector-file.ts';

/** The version of the protocol between `selftest --exec` and a verifier (docs/selftest.md). */
const PROTOCOL = 1;

const inputSchema = z.record(z.string(), z.unknown());

const caseSchema = z.strictObject({
  protocol: z.literal(PROTOCOL),
  kind: z.string(),
  id: z.string(),
  /** The input as in the vectors, without the members that `files` names. */
  input: inputSchema,
  /** Members of the input by the name of the file that holds their bytes. */
  files: z.record(z.string(), z.string().regex(/^[a-z0-9.-]+$/)),
});

/** Lays out a case in a new folder: `case.json` and the files that it names. What is expected is not among it. */
export async function writeCaseFolder(folder: string, kind: string, one: SelftestCase): Promise<void> {
  const { input, files, members } = takeOut(kind, inputSchema.parse(one.input));
  await mkdir(folder);
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const task = { protocol: PROTOCOL, kind, id: one.id, input, files: members };
  await writeFile(join(folder, 'case.json'), `${JSON.stringify(task, null, 2)}\n`);
}

/**
 * The case of a folder, with its input as in the vectors.
 * @throws DrillproofError `selftest.CASE_INVALID`, and what reading throws
 */
export async function readCaseFolder(folder: string): Promise<{ kind: string; id: string; input: unknown }> {
  const path = join(folder, 'case.json');
  const { kind, id, input, files } = typed(await read(path), path);
  return { kind, id, input: await putBack(kind, input, files, (name) => read(join(folder, name))) };
}

function typed(bytes: Buffer, path: string): z.infer<typeof caseSchema> {
  try {
    return caseSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new DrillproofError('selftest.CASE_INVALID', `${path} is no case of protocol ${PROTOCOL}`, {
      path,
      cause,
    });
  }
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw ioError(cause, path, 'read');
  }
}
