import { isDeep } from '../support/deep.ts';
import { CONNECTION_FAULTS } from './connection-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(CONNECTION_FAULTS, isDeep);
