import { platform } from '#platform';
import { expect, it } from 'vitest';
import { everyCaseHolds } from './suite.ts';

it('these are the primitives of Node', () => expect(platform.name).toBe('node'));

everyCaseHolds();
