import { hash } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { View } from '../app/page.ts';
import { type ApiError, errorCatalogue } from '../shared/errors.ts';
import { html } from '../shared/html.ts';
import { lazy } from '../shared/lazy.ts';

/** The security policy contains the hash of this text, so the text has no characters that HTML escapes. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1b1b22; --soft: #5b5b66; --ground: #f4f4f6; --card: #ffffff; --accent: #2f4bd8; --on-accent: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #f1f1f4; --soft: #a9a9b6; --ground: #14141a; --card: #1f1f27; --accent: #9fb0ff; --on-accent: #14141a; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, Segoe UI, Roboto, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--card); border-radius: 1rem; box-shadow: 0 1px 2px rgb(0 0 0 / 8%), 0 8px 32px rgb(0 0 0 / 8%); overflow-wrap: anywhere; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
p:last-child { margin-bottom: 0; }
small { color: var(--soft); font-size: 0.875rem; }
form { margin: 1.5rem 0; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: 0.75rem 1rem; border: 0; border-radius: 0.625rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;

/** Allows only `STYLE`, and forms that send to this service. */
const securityPolicy = lazy(() =>
  [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
);

export function htmlResponse(
  { status, title, body }: View,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return {
    statusCode: status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': securityPolicy(), ...headers },
    body: document.toString(),
  };
}

export function htmlFailure({ status, message, retryAfterSeconds }: ApiError): APIGatewayProxyStructuredResultV2 {
  const { http, retryable } = errorCatalogue[status];
  const view = {
    status: http,
    title: http >= 500 ? 'Something went wrong' : 'This did not work',
    body: html`<p>${retryable ? 'Please try again in a moment.' : 'Please open the link again.'}</p>\n<p><small>${message}</small></p>`,
  };
  return htmlResponse(view, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
}
