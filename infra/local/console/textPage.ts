import { type Html, html } from '../../../lib/shared/html.ts';
import { DASHBOARD, QUERIES, RUNBOOK } from './pageFiles.ts';

const pages: readonly (readonly [path: string, name: string])[] = [
  [DASHBOARD, 'Dashboard'],
  [QUERIES, 'Saved queries'],
  [RUNBOOK, 'Runbook'],
];

/** Returns a page without scripts. */
export function textPage(title: string, body: Html): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${DASHBOARD}.css">
</head>
<body>
<header>
<h1>${title}</h1>
<nav aria-label="Pages">${pages.map(([path, name]) => html`<a href="${path}">${name}</a> `)}</nav>
</header>
<main class="text">
${body}
</main>
</body>
</html>
`);
}

/** Marks text as HTML. Only for markup that is made of our own pages. */
export function trusted(markup: string): Html {
  return html(Object.assign([markup], { raw: [markup] }));
}
