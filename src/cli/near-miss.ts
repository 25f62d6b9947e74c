export { didYouMean, editDistance, nearest } from '../bytes/near-miss.ts';
