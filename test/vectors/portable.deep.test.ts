import { platform } from '#platform';
import { expect, it, vi } from 'vitest';
import { everyCaseHolds } from './suite.ts';

// Hash, signature and inflate of every case, as a browser would do them.
vi.mock('#platform', () => import('../../src/bytes/platform-portable.ts'));

it('the portable vectors run with the portable primitives', () => expect(platform.name).toBe('portable'));

everyCaseHolds();
