import { platform } from '#platform';
import { expect, it, vi } from 'vitest';
import { testEveryCase } from './suite.ts';

// Hash, verify and inflate as in a browser.
vi.mock('#platform', () => import('../../src/bytes/platform-portable.ts'));

it('the portable vectors run with the portable primitives', () => expect(platform.name).toBe('portable'));

testEveryCase();
