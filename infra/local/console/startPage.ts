import { join } from 'node:path';
import { type Html, html } from '../../../lib/shared/html.ts';
import { demoUsers } from './demoDocument.ts';
import { DASHBOARD, DEMO } from './pageFiles.ts';

export const START = '/';
export const START_STYLE = '/_local/start.css';

/** Shows no contents of the files with mails and credentials: only the user who runs the system may read them. */
export function startPage(title: string, dataDir: string): Html {
  const demo = demoUsers.map(({ userId }) => {
    const path = `${DEMO}?user=${userId}`;
    return html` <a href="${path}">${userId}</a>`;
  });
  const credentials = join(dataDir, 'credentials.json');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${START_STYLE}">
</head>
<body>
<main>
<h1>${title}</h1>
<dl>
<dt>Demo</dt>
<dd>Open it as two users, in two windows:${demo}</dd>
<dt><a href="/docs">Guides</a></dt>
<dd>Begin with <a href="/docs/first-calls">First calls</a>.</dd>
<dt><a href="/docs/reference">Reference</a></dt>
<dd>Every endpoint and webhook. The pages can send requests to this run.</dd>
<dt><a href="${DASHBOARD}">Dashboard</a></dt>
<dd>Alarms, graphs, and parts that can be stopped to practise an outage.</dd>
<dt>Mails</dt>
<dd>One file each in <code>${join(dataDir, 'outbox')}</code></dd>
<dt>Credentials</dt>
<dd>Those of the demo workspace are in <code>${credentials}</code>, which only you can read. To print them: <code>cat ${credentials}</code></dd>
</dl>
</main>
</body>
</html>
`;
}
