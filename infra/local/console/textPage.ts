import { type Html, html } from '../../../lib/shared/html.ts';
import { documentHead } from '../../build/docs/markup.ts';
import { DASHBOARD, QUERIES, RUNBOOK } from './pageFiles.ts';

const pages: readonly (readonly [path: string, name: string])[] = [
  [DASHBOARD, 'Dashboard'],
  [QUERIES, 'Saved queries'],
  [RUNBOOK, 'Runbook'],
];

export function textPage(title: string, body: Html): string {
  return String(html`${documentHead(title, html`<link rel="stylesheet" href="${DASHBOARD}.css">`)}
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
