import { isDeep } from '../support/deep.ts';
import { OVERLOAD_FAULTS } from './overload-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(OVERLOAD_FAULTS, isDeep);
