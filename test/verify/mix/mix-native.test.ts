import { platform } from '#platform';
import { expect, test } from 'vitest';
import { testMixes } from './suite.ts';

test('these are the primitives of Node', () => expect(platform.name).toBe('node'));

testMixes();
