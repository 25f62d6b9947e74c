import { isDeep } from '../support/deep.ts';
import { REDIRECT_FAULTS } from './redirect-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(REDIRECT_FAULTS, isDeep);
