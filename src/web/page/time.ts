/** A time as `--as-of` takes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

export const isTime = (text: string): boolean => TIME.test(text) && Number.isFinite(Date.parse(text));
export const parseTime = (text: string): number => Date.parse(text);
