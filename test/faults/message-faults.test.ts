import { MESSAGE_FAULTS } from './message-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(MESSAGE_FAULTS);
