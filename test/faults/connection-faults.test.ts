import { CONNECTION_FAULTS } from './connection-faults.ts';
import { testMatrix } from './matrix.ts';

testMatrix(CONNECTION_FAULTS);
