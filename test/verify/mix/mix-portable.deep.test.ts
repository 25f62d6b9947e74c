import { platform } from '#platform';
import { expect, test, vi } from 'vitest';
import { testMixes } from './suite.ts';

vi.mock('#platform', () => import('../../../src/bytes/platform-portable.ts'));

test('these are the portable primitives', () => expect(platform.name).toBe('portable'));

testMixes();
