import { defined } from '../../bytes/arguments.ts';
import { BEGIN_REPORTS, endReports, renderReportsRow } from '../../report/html/pages/many.ts';
import { renderReportPage } from '../../report/html/report.ts';
import type { Rendering } from './output.ts';

export const ONE_PAGE: Rendering = {
  begin: '',
  result: (result, _index, { trust }) =>
    'report' in result
      ? renderReportPage(result.report, defined({ trust }))
      : BEGIN_REPORTS + renderReportsRow(result) + endReports(undefined),
  end: () => '',
};

export const MANY_PAGE: Rendering = {
  begin: BEGIN_REPORTS,
  result: (result) => renderReportsRow(result),
  end: ({ summary }) => endReports(summary()),
};
