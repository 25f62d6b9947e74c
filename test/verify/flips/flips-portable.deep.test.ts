import { platform } from '#platform';
import { expect, test, vi } from 'vitest';
import { testFlips } from './suite.ts';

vi.mock('#platform', () => import('../../../src/bytes/platform-portable.ts'));

test('these are the portable primitives', () => expect(platform.name).toBe('portable'));

// Some ten times slower: a stride without a common divisor with the number of patterns still takes all of them.
testFlips(7);
