import { isDeep } from '../support/deep.ts';
import { MESSAGE_FAULTS } from './message-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(MESSAGE_FAULTS, isDeep);
