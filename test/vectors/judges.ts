export { JUDGES } from '../../src/selftest/judges.ts';
