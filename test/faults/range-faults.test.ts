import { isDeep } from '../support/deep.ts';
import { RANGE_FAULTS } from './range-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(RANGE_FAULTS, isDeep);
