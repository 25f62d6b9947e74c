import * as z from 'zod/mini';
import { AMOUNT, checkArguments, OBJECT, optional, optionsOf } from '../../bytes/arguments.ts';
import { collectBytes } from '../../bytes/async.ts';
import { permissions } from '../../contract/operations/operations.ts';
import { organizationIdSchema, projectIdSchema, textSchema } from '../../contract/scalars.ts';
import { typeDocument } from '../../evidence/document.ts';
import { packageError } from '../../node/fs-errors.ts';
import { deriveId } from '../model/ids.ts';
import { Refusal } from './envelope.ts';
import { type Principal, unauthenticated } from './tokens.ts';

const isFetchable = (text: string): boolean => {
  const { protocol, hostname } = URL.parse(text) ?? {};
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]'].includes(hostname ?? ''));
};

const patternSchema = textSchema(1, 1024).check(
  z.refine((text) => text.split('*').length <= 2, { error: 'must have at most one *' }),
);
const patternsSchema = z.union([patternSchema, z.array(patternSchema).check(z.minLength(1))]);

const ruleSchema = z.strictObject({
  /** The claims that a token must have, each with a value, a pattern or a list of them. */
  claims: z
    .record(textSchema(1, 128), patternsSchema)
    .check(z.refine((claims) => Object.keys(claims).length > 0, { error: 'must have at least 1 member' })),
  organizationId: organizationIdSchema,
  projects: z.union([z.literal('all'), z.array(projectIdSchema).check(z.minLength(1))]),
  permissions: z.array(z.enum(permissions)).check(z.minLength(1)),
});

const issuerSchema = z.strictObject({
  issuer: textSchema(1, 1024),
  audience: textSchema(1, 1024),
  jwksUrl: z.string().check(z.refine(isFetchable, { error: 'must be https://…, or http://127.0.0.1…' })),
  rules: z.array(ruleSchema).check(z.minLength(1)),
});

/** The issuers whose tokens a control plane accepts, and the rights that their claims give (docs/server/access.md). */
export const oidcSchema = z.strictObject({
  schemaVersion: z.literal(1),
  issuers: z.array(issuerSchema).check(
    z.minLength(1),
    z.refine((rows) => new Set(rows.map(({ issuer }) => issuer)).size === rows.length, {
      error: 'must have each issuer once',
    }),
  ),
});
type Issuer = z.infer<typeof issuerSchema>;
type Patterns = z.infer<typeof patternsSchema>;

/** Verifies a JWT. @throws DrillproofError `control.UNAUTHENTICATED`, `control.UNAVAILABLE` if there are no keys */
export type VerifyIdentity = (jwt: string, nowMs: number) => Promise<Principal>;

const MAX_JWT = 8_192;
const MAX_JWKS_BYTES = 256 * 1024;
// A token that was signed with anything else is refused, whatever its header says.
const ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 RS256 RS384 RS512 PS256 PS384 PS512'.split(' ');
const SKEW_S = 30;
const MAX_AGE_S = 86_400;
const RETRY_AFTER_MS = 5_000;

/** Returns whether a claim is a text that equals a pattern; its `*` stands for one or more characters except `/` and `:`. */
function matches(claim: unknown, pattern: string): boolean {
  const [start = '', end] = pattern.split('*');
  if (typeof claim !== 'string' || end === undefined) return claim === pattern;
  const between = claim.slice(start.length, claim.length - end.length);
  return claim.startsWith(start) && claim.endsWith(end) && /^[^/:]+$/.test(between);
}

const hasClaims = (
  payload: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, Patterns>>,
): boolean =>
  Object.entries(claims).every(([name, patterns]) =>
    [patterns].flat().some((pattern) => Object.hasOwn(payload, name) && matches(payload[name], pattern)),
  );

type Jose = typeof import('jose');

async function loadJose(): Promise<Jose> {
  try {
    return await import('jose'); // inside `try`, so that bundlers accept that it is not installed
  } catch (cause) {
    throw packageError(cause, 'OpenID Connect', 'jose');
  }
}

/** Creates the keys of an issuer, which `jose` fetches and caches. After a failure it does not ask for a while. */
function createKeys(jose: Jose, { issuer, jwksUrl }: Issuer, cooldownMs: number) {
  let failure: { readonly untilMs: number; readonly error: Refusal } | undefined;
  const fetchKeys = async (url: string, options: RequestInit): Promise<Response> => {
    if (failure !== undefined && performance.now() < failure.untilMs) throw failure.error;
    try {
      const { status, body } = await fetch(url, options);
      if (status !== 200 || body === null) throw new TypeError(`the answer has the status ${status}`);
      const bytes = await collectBytes(body, MAX_JWKS_BYTES);
      jose.createLocalJWKSet(JSON.parse(Buffer.from(bytes).toString()));
      return new Response(Buffer.from(bytes));
    } catch (cause) {
      const message = `the keys of the issuer ${issuer} cannot be fetched`;
      const error = new Refusal('control.UNAVAILABLE', message, { retryAfterMs: RETRY_AFTER_MS, cause });
      failure = { untilMs: performance.now() + Math.min(cooldownMs, RETRY_AFTER_MS), error };
      throw error;
    }
  };
  const cooldown = { cooldownDuration: cooldownMs, [jose.customFetch]: fetchKeys };
  return jose.createRemoteJWKSet(new URL(jwksUrl), cooldown);
}

/**
 * Creates the verification of JWTs of the issuers in a document (docs/schemas/oidc.v1.schema.json), for `createServer`. The
 * first rule of the issuer whose claims a token has gives the rights. No key is fetched before the first token.
 * @param options.cooldownMs time between two fetches of the keys of an issuer for an unknown key; default 30,000
 * @throws TypeError for an argument of the wrong kind; DrillproofError `server.CONFIG_INVALID` for an invalid document, `io.PACKAGE_MISSING` without `jose`
 * @example
 * const oidc = await createOidc(JSON.parse(await readFile('oidc.json', 'utf8')));
 * const server = createServer({ ...(await openEmbedded('data')), oidc });
 */
export async function createOidc(
  document: unknown,
  options: { readonly cooldownMs?: number } = {},
): Promise<VerifyIdentity> {
  checkArguments(
    { document: OBJECT, options: optionsOf({ cooldownMs: optional(AMOUNT) }) },
    { document, options },
  );
  const { cooldownMs = 30_000 } = options;
  const { issuers } = typeDocument(document, { schema: oidcSchema, code: 'server.CONFIG_INVALID' });
  const jose = await loadJose();
  const byName = new Map(
    issuers.map((row) => [row.issuer, { ...row, keys: createKeys(jose, row, cooldownMs) }]),
  );
  const verify: VerifyIdentity = async (jwt, nowMs) => {
    const { iss = '' } = jose.decodeJwt(jwt); // only selects the keys; the verified claims name the issuer again
    const trusted = byName.get(iss);
    if (trusted === undefined) throw new TypeError('the issuer is not configured');
    const { issuer, audience, keys, rules } = trusted;
    const { payload } = await jose.jwtVerify(jwt, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: SKEW_S,
      maxTokenAge: MAX_AGE_S,
      currentDate: new Date(nowMs),
    });
    const rule = rules.find(({ claims }) => hasClaims(payload, claims));
    if (rule === undefined) throw new TypeError('no rule of the issuer has the claims of the token');
    const { claims: _claims, ...rights } = rule;
    const { sub } = payload;
    if (typeof sub !== 'string' || sub === '') throw new TypeError('the claim sub is not a text');
    return { ...rights, tokenId: deriveId('oidc', issuer, sub), identity: `${issuer} ${sub}` };
  };
  return async (jwt, nowMs) => {
    if (jwt.length > MAX_JWT) throw unauthenticated();
    return verify(jwt, nowMs).catch((error: unknown) => {
      throw error instanceof Refusal ? error : unauthenticated(error);
    });
  };
}
