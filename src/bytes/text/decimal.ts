/** A decimal number as its digits without outer zeros and the power of ten of the last one. */
type Decimal = { readonly negative: boolean; readonly digits: string; readonly exponent: number };

const TOKEN = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

function decimalOf(token: string): Decimal | undefined {
  const parts = TOKEN.exec(token);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = parts;
  const significant = (whole + fraction).replace(/^0+/, '');
  const digits = withoutTrailingZeros(significant);
  if (digits === '') return { negative: false, digits: '0', exponent: 0 };
  const exponent = Number(power) - fraction.length + (significant.length - digits.length);
  return { negative: sign === '-', digits, exponent };
}

// A loop, because /0+$/ takes quadratic time on a number with a long run of zeros before its last digit.
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/**
 * Whether a JSON number and the shortest decimal of the double it was read into (RFC 8785 §3.2.2.3) have the same
 * value: 0.1 and 1.0e+28 do, 2^53+1 and 1e400 do not.
 */
export function sameDecimal(token: string, double: number): boolean {
  if (!Number.isFinite(double)) return false;
  const read = decimalOf(token);
  const held = decimalOf(String(double));
  return (
    read !== undefined &&
    held !== undefined &&
    read.negative === held.negative &&
    read.digits === held.digits &&
    read.exponent === held.exponent
  );
}
