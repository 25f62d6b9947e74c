import { idOf } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import type { Patch } from '../../make/patch.ts';
import { type Case, failed } from './case.ts';

const field = (name: string): string => `/subject/reproduction/${name}`;

export const bindings = (): Case[] => {
  const no = 'bundle.BINDING_MISMATCH';
  const bound = (id: string, statement: Patch, comment: string): Case =>
    failed(`binding-${id}`, { statement }, 'Binding', comment, no);
  return [
    bound('state', { '/subject/stateHash': sha256Of('x') }, 'another state was signed'),
    bound('evidence', { '/subject/evidenceHash': sha256Of('x') }, 'another journal was signed'),
    bound('trajectory', { '/subject/trajectoryHash': sha256Of('x') }, 'another trajectory was signed'),
    bound('run-result', { '/subject/runResultHash': sha256Of('x') }, 'another run result was signed'),
    bound('run', { '/subject/runId': 'run_another1' }, 'another run was signed'),
    bound('drill', { [field('drillId')]: 'another' }, 'another drill was signed'),
    bound('target', { [field('targetId')]: 'another' }, 'another target was signed'),
    bound('build', { [field('buildHash')]: sha256Of('x') }, 'another build was signed'),
    bound('lock', { [field('packageLockHash')]: sha256Of('x') }, 'another lock was signed'),
    bound('seed', { [field('seed')]: '8' }, 'another seed was signed'),
    bound('trial', { [field('originalTrial')]: 2 }, 'another trial was signed'),
    bound('attempt-limit', { [field('originalAttemptLimit')]: 3 }, 'another limit of attempts was signed'),
    bound('scenario', { [field('scenarioId')]: 'another' }, 'another scenario was signed'),
    bound('no-scenario', { [field('scenarioId')]: undefined }, 'no scenario was signed, and the run had one'),
    bound('setup', { [field('setupHash')]: sha256Of('x') }, 'another setup was signed'),
    failed(
      'binding-result-state',
      { runResult: { '/stateHash': sha256Of('x') } },
      'Binding',
      'the run result and the manifest name different states',
      no,
    ),
    failed(
      'binding-result-run',
      { runResult: { '/identity/runId': 'run_another1' } },
      'Binding',
      'the run result is of another run',
      no,
    ),
    failed(
      'binding-rerun-seed',
      { manifest: { '/rerunOfHostedRunId': idOf('hrun', 9) }, statement: { [field('seed')]: '8' } },
      'Rerun',
      'a rerun with another seed',
      no,
    ),
    failed(
      'subject',
      { statement: { '/subject/manifestDigest': sha256Of('x') } },
      'WrongSubject',
      'another manifest was signed',
      'attestation.SUBJECT_MISMATCH',
    ),
  ];
};
