declare const PAGE: string;

/** The page that verifies in a browser, as HTML; the build writes it here. */
export const page = PAGE;
