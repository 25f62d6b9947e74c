import { cite } from './entry.ts';

const exits = cite('docs/verify/cli.md, Exit codes');
const queues = cite('docs/archive/scale.md');
const mirrors = cite('docs/archive/mirror.md');
const faults = cite('docs/archive/mirror.md, Faults');
const scrubs = cite('docs/archive/scrub.md, Results');
const repairs = cite('docs/archive/scrub.md, Repair');
const upgrades = cite('docs/server/retention.md, Upgrade');
const stored = cite('docs/server/server.md, Checking stored bytes');
const runners = cite('docs/server/runners.md, Protocol');
const endpoints = cite('control API, Endpoints');
const servers = cite('docs/server/server.md');

const inventory = cite('docs/archive/inventory.md');

/** Codes of files, the network, mirrors, scrubs, the command line and the server. */
export const ioCodes = {
  'io.NOT_FOUND': exits.usage('The file or folder does not exist.', 'Check the path.'),
  'io.UNREADABLE': cite('formats §4').inaccessible(
    'The bytes could not be read, so it is unknown whether they match.',
    'Check the permissions and the health of the disk, then verify again.',
  ),
  'io.CHANGED': cite('formats §4').inaccessible(
    'The file changed while it was being read.',
    'Stop whatever writes to the evidence, then verify again.',
  ),
  'report.UNREADABLE': cite('docs/verify/verify.md, Differences between reports').inaccessible(
    'The file is not a report that this version can read.',
    'Give the JSON of a report (drillproof verify --json writes it).',
  ),
  'io.KIND': exits.usage(
    'The path is not of the kind that the command needs.',
    'Name a regular file or a folder, as the help of the command describes.',
  ),
  'io.EXISTS': exits.usage(
    'The output file or folder already exists.',
    'Choose another path, or remove the existing one yourself.',
  ),
  'io.READ_ONLY': exits.inaccessible(
    'The target cannot be written, because it is read-only or you lack the permission.',
    'Choose another target, or change its permissions.',
  ),
  'io.DISK_FULL': exits.inaccessible(
    'The disk is full; no incomplete file got its final name.',
    'Free some space and run the command again; it resumes where it stopped.',
  ),
  'io.WRITE_FAILED': exits.inaccessible(
    'A write failed; no incomplete file got its final name.',
    'Check the disk named in the cause, and run the command again.',
  ),
  'io.LOCKED': mirrors.inaccessible(
    'Another process is writing to this folder.',
    'Wait until it ends, or choose another folder; if its machine no longer exists, remove the lock file in the message.',
  ),
  'io.PACKAGE_MISSING': exits.usage(
    'A feature needs an optional package that is not installed.',
    'Run the command in the message in the folder that contains drillproof.',
  ),
  'transport.UNREACHABLE': faults.inaccessible(
    'The server could not be reached.',
    'Check the address and the network, then run the command again.',
  ),
  'transport.TIMEOUT': faults.inaccessible(
    'The server did not respond, or sent no bytes, before the timeout.',
    'Run the command again.',
  ),
  'transport.INTERRUPTED': cite('RFC 9112 §8').inaccessible(
    'The connection ended before the complete body arrived.',
    'Run the command again.',
  ),
  'transport.REDIRECT_REFUSED': cite('RFC 9110 §15.4').refused(
    'The server redirects to another origin, to a weaker scheme, or too often.',
    'Use the final address if you trust it; the token was not sent there.',
  ),
  'transport.ENCODING_REFUSED': cite('RFC 9110 §8.4').refused(
    'The response has a content coding, although the client accepts only identity.',
    'Turn off compression between the server and this machine.',
  ),
  'transport.BODY_TOO_LONG': faults.mismatch(
    'The response has more bytes than were declared, or than the operation allows.',
    'Ask the operator of the source before you use it again.',
  ),
  'transport.RANGE_INVALID': cite('RFC 9110 §14.4').mismatch(
    'The response to a range request has a different range, size or version.',
    'Run the command again; the part is fetched from the beginning.',
  ),
  'transport.DIGEST_MISMATCH': cite('RFC 9530 §3').mismatch(
    'The bytes of the response do not match its Repr-Digest.',
    'Run the command again; if it fails again, something in the network changes responses.',
  ),
  'transport.RESPONSE_INVALID': endpoints.malformed(
    'The response does not have the form that the operation defines.',
    'Check that the address is a control plane of version 1.',
  ),
  'transport.ANSWER_MISMATCH': endpoints.mismatch(
    'The response describes a different resource from the one that the request named.',
    'Do not use the response, and report it to the operator of the control plane.',
  ),
  'transport.ABORTED': exits.inaccessible('The caller cancelled the work.', 'Run the command again.'),
  'client.REQUEST_INVALID': endpoints.usage(
    'A parameter or the body breaks a rule of the operation, so nothing was sent.',
    'Correct the value at the path in the message.',
  ),
  'client.BASE_URL_INVALID': cite('control API, What the service does').usage(
    'The base address is not an absolute http or https URL without user, query and fragment.',
    'Pass the address up to, but not including, /v1.',
  ),
  'client.PAGES_EXCEEDED': cite('control API, Limits').limit(
    'A list has more pages or items than the limit, or its cursor repeats a page.',
    'Report it to the operator of the control plane; only a program that uses the library can raise the limit.',
  ),
  'client.OPERATION_FAILED': cite('control API, Operation').refused(
    'The operation has failed.',
    'Read the error of the operation in the details.',
  ),
  'client.OPERATION_CANCELLED': cite('control API, Operation').refused(
    'The operation was cancelled.',
    'Start it again if you still need it.',
  ),
  'mirror.TARGET_FOREIGN': mirrors.usage(
    'The target folder contains something other than a mirror of this export.',
    'Choose an empty folder, or the folder of the earlier mirror.',
  ),
  'mirror.BAG_INFO_DIFFERS': cite('docs/archive/mirror.md, BagIt').usage(
    'The fields in bag-info.txt of the bag are not those of the run, or they are damaged.',
    'Pass the same --bag-info as before. To change the fields, remove bag-info.txt and mirror again.',
  ),
  'mirror.TARGET_INCOMPLETE': mirrors.missing(
    'A file of the export is missing or damaged in the mirror.',
    'Run the mirror again without --check; it fetches what is missing or damaged.',
  ),
  'mirror.TARGET_EXTRA': cite('formats §1, Export').extra(
    'The mirror has files that its export does not list.',
    'Find out who added the files in the message, and remove them.',
  ),
  'mirror.SOURCE_INVALID': faults.inaccessible(
    'The source sent a manifest that is invalid or does not match its export.',
    'Report it to the operator of the source; nothing was written.',
  ),
  'mirror.SOURCE_INCOMPLETE': mirrors.inaccessible(
    'A file that the manifest lists could not be fetched.',
    'Read the findings, and run the mirror again when the source can serve the files.',
  ),
  'mirror.EXPORT_FAILED': cite('control API, Evidence export').refused(
    'The control plane could not generate the export, so it never becomes available.',
    'Look at the failureCode, and request a new export.',
  ),
  'mirror.WAIT_EXCEEDED': cite('docs/archive/mirror.md, Finding exports').inaccessible(
    'The export was not generated within the time to wait.',
    'Run the command again later, or wait longer with --wait.',
  ),
  'mirror.NOTHING_FOUND': cite('docs/archive/mirror.md, Finding exports').inaccessible(
    'The project has no export to mirror, so nothing was fetched or verified.',
    'Check the project and what the token may read.',
  ),
  'scrub.NOTHING_FOUND': cite('docs/archive/scrub.md').inaccessible(
    'The archive contains no mirror, so nothing was read or verified.',
    'Name the folder or prefix that mirrors were written to, or that of one mirror.',
  ),
  'scrub.MIRROR_UNFINISHED': scrubs.inaccessible(
    'A mirror is being written here or was interrupted, so no manifest lists its files.',
    'Wait until the mirror ends, or run the same mirror command again.',
  ),
  'scrub.MIRROR_MISSING': scrubs.missing(
    'A mirror that the inventory or the journal of the archive names does not exist, or its folder is empty.',
    'Mirror the export again or restore it; if you removed it on purpose, acknowledge it (drillproof archive acknowledge).',
  ),
  'inventory.NONE': inventory.inaccessible(
    'The archive has no inventory, so nobody can say what it should contain.',
    'Run the mirror of the whole project again; it verifies every mirror and writes the inventory.',
  ),
  'inventory.DAMAGED': inventory.mismatch(
    'A line of the inventory of an archive is not valid, or does not name the line before it by its digest.',
    'Restore inventory.jsonl from a copy of the archive; without one, remove it and mirror the project again.',
  ),
  'inventory.HEAD_MISMATCH': inventory.mismatch(
    'No line of the inventory has the expected digest, so lines were removed or rewritten.',
    'Compare it with a copy of the archive.',
  ),
  'inventory.HELD': inventory.refused(
    'A mirror is held, so it was not removed.',
    'Ask who holds it; release the hold (drillproof archive release), or wait until the lock of the storage ends.',
  ),
  'inventory.UNLISTED': inventory.extra(
    'The inventory of the archive does not name this mirror.',
    'Mirror the project again, which reads the mirror and lists it; if it is not yours, remove it.',
    'warning',
  ),
  'scrub.NAME_MISMATCH': scrubs.mismatch(
    'The name of a mirror in an archive is not the id of its export.',
    'Find out who exchanged or copied the mirror, and give it the name of its export.',
  ),
  'scrub.CHECKSUMS_MISMATCH': scrubs.mismatch(
    'A file of a mirror does not match its line in SHA256SUMS.',
    'Repair the mirror with --repair-from; the digests in manifest.json decide about parts and reports.',
  ),
  'scrub.REPLICA_UNREADABLE': repairs.inaccessible(
    'The mirror to repair from could not be read.',
    'Read the cause, and repair from another mirror or from the source.',
  ),
  'scrub.REPLICA_FOREIGN': repairs.refused(
    'The mirror to repair from is a mirror of another export.',
    'Name a mirror of the same export; nothing was copied from this one.',
  ),
  'scrub.REPAIR_INCOMPLETE': repairs.mismatch(
    'A file that was fetched again matches its manifest, but it still has the same fault.',
    'Read the findings; the fault is in the evidence itself, so every copy has it.',
  ),
  'scrub.MANIFEST_UNDECIDABLE': repairs.inaccessible(
    'Nothing shows which manifest.json is right, so nothing was repaired.',
    'Pass its digest with --expect-manifest, or a key that signed the export attestation with --trust.',
  ),
  'usage.INVALID': cite('docs/verify/cli.md').usage(
    'The command, an option or an argument is unknown or has an invalid value.',
    'Run the command with --help.',
  ),
  'usage.PAST_TIME': cite('docs/gate/gate.md').usage(
    'The gate was asked to evaluate as of a past time, at which expired waivers and keys would count.',
    'Omit --as-of, or add --allow-past if you want the answer for that time.',
  ),
  'pack.INPUT_INVALID': cite('formats §1').usage(
    'The input of the packer breaks a rule of the format.',
    'Correct the value at the path in the message.',
  ),
  'selftest.VECTORS_INVALID': cite('vectors/README.md, A file').usage(
    'A file of test vectors has an unknown form or version, or lacks cases that it announces.',
    'Use the vectors of the installed package, or those of the same version.',
  ),
  'server.CONFIG_INVALID': servers.usage(
    'The configuration of the server is wrong, or its data has a different version.',
    'Correct the setting in the message; nothing was started.',
  ),
  'server.SCHEMA_NEWER': upgrades.usage(
    'A newer version of drillproof has changed the schema of the store.',
    'Start that version or a later one. A schema is never changed back, so to return to this version, restore a backup.',
  ),
  'server.STORE_DAMAGED': upgrades.usage(
    'The file of the store is damaged, or its schema does not match the version that it states.',
    'Restore the store from a backup, and check the disk. Nothing was changed.',
  ),
  'server.STORE_FOREIGN': upgrades.usage(
    'The database or file has tables of another program, or is not a database.',
    'Name an empty database with DATABASE_URL, or another data folder with --data. Nothing was changed.',
  ),
  'server.CLOCK_JUMPED': cite('docs/server/operate.md, Clock').inaccessible(
    'The clock of this machine differs from the time of the control plane, so nothing may expire or be deleted by it.',
    'Correct the clock; if it is right, confirm it (with "drillproof admin clock --accept").',
  ),
  'server.ADMIN_REFUSED': servers.usage(
    'The control plane refuses the input.',
    'Correct the value that the message names; nothing was stored.',
  ),
  'server.IMPORT_CONFLICT': servers.usage(
    'A resource in the import file has an id that is stored with other content.',
    'Remove the resource from the file, or give it another id; nothing was stored.',
  ),
  'server.BLOB_MISSING': stored.missing(
    'A row of the store refers to bytes that are missing.',
    'Restore the blob from a backup or a mirror, under the name of its digest.',
  ),
  'server.BLOB_CORRUPT': stored.mismatch(
    'Stored bytes do not match the digest or size in the store, so they are not served.',
    'Restore the blob from a backup or a mirror, and check the storage.',
  ),
  'server.BLOB_ORPHAN': stored.extra(
    'No row refers to these stored bytes; they belong to an interrupted or running upload.',
    'Keep them, or remove the blob while no server runs.',
    'info',
  ),
  'server.RESTORED_TOKEN': cite('docs/server/operate.md, After a restore').mismatch(
    'The audit log records that this token was revoked, but the restored rows accept it.',
    'Revoke it again (with "drillproof admin token revoke").',
  ),
  'server.RESTORED_EVIDENCE': cite('docs/server/operate.md, After a restore').mismatch(
    'The audit log records that this evidence was deleted, but the restored rows serve it.',
    'Delete it again (with "drillproof admin delete").',
  ),
  'runner.NOT_STARTED': cite('docs/server/runners.md').usage(
    'The program of a runner does not exist or may not be executed.',
    'Correct the command in runner.json; a relative program is looked up in that folder.',
  ),
  'runner.HELLO_INVALID': runners.usage(
    'The first line of a runner does not name version 1 of the protocol and its kinds of work, or it is missing.',
    'Write {"v":[1],"kinds":["run.rerun"]} and a line feed to descriptor 3 first, and flush it.',
  ),
  'runner.EVENT_INVALID': runners.usage(
    'A runner wrote a line that is not an event, or more after its result.',
    'Write one JSON object in each line of descriptor 3, and the result last; a log belongs on standard output.',
  ),
  'runner.TOO_LARGE': cite('docs/server/runners.md, Bounds').limit(
    'A runner wrote a line or a number of events that is larger than allowed.',
    'Write large data into a file of the folder of the job, and name it in the result.',
  ),
  'runner.EXIT': runners.usage(
    'A runner ended without a result, with an exit code other than 0, or by a signal.',
    'Read its log (drillproof admin operation log); write a result, flush it, and end with exit code 0.',
  ),
  'internal.BUG': cite('docs/contribute/architecture.md').internal(
    'The program reached a state that should be impossible.',
    'Report it to the maintainers with the steps that led to it.',
  ),
} as const;

/** Codes of work that several machines share through a queue. */
export const queueCodes = {
  'queue.UNREACHABLE': queues.inaccessible(
    'The database of the queue could not be reached, or closed the connection.',
    'Check the address and the server, then run the command again; finished work is kept.',
  ),
  'queue.REFUSED': queues.refused(
    'The database of the queue refuses the user, the database name, or a statement.',
    'Check the user, the password and the right to create a schema.',
  ),
  'queue.RUN_MISMATCH': queues.usage(
    'A different command started the run of this name.',
    'Use the same command on every machine, or choose another --queue-name.',
  ),
  'queue.WORKER_LOST': queues.inaccessible(
    'Every process that took this job ended without a result, until no retries remained.',
    'Find out why the processes end (memory is the usual reason), then run the command again.',
  ),
  'queue.JOB_CANCELLED': queues.inaccessible(
    'The job was cancelled in the database of the queue, so it was not done.',
    'Run the command again if you still need it.',
  ),
} as const;
