import { platform } from '#platform';
import { expect, it } from 'vitest';
import { testEveryCase } from './suite.ts';

it('the native vectors run with the primitives of Node.js', () => expect(platform.name).toBe('node'));

testEveryCase();
