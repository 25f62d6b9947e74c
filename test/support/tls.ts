import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Authority = {
  /** The file of its certificate, PEM. */
  readonly file: string;
  /** A key and certificate for these names, such as `IP:127.0.0.1` and `DNS:localhost`. */
  readonly serverFor: (...names: string[]) => { readonly key: Buffer; readonly cert: Buffer };
  readonly remove: () => void;
};

/** Creates a certificate authority with openssl that no program trusts. */
export function privateAuthority(): Authority {
  const dir = mkdtempSync(join(tmpdir(), 'authority-'));
  const openssl = (words: string): void =>
    void execFileSync('openssl', words.split(' '), { cwd: dir, stdio: 'pipe' });
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
  openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -days 2 -subj /CN=Private`);
  let servers = 0;
  return {
    file: join(dir, 'ca.pem'),
    serverFor(...names) {
      const name = `server-${servers++}`;
      writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${names.join(',')}\n`);
      openssl(`req ${key} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
      openssl(
        `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ${name}.ext -out ${name}.pem`,
      );
      return { key: readFileSync(join(dir, `${name}.key`)), cert: readFileSync(join(dir, `${name}.pem`)) };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
