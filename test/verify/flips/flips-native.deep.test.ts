import { platform } from '#platform';
import { expect, test } from 'vitest';
import { testFlips } from './suite.ts';

test('these are the primitives of Node', () => expect(platform.name).toBe('node'));

testFlips(1);
