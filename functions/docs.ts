import { hash } from 'node:crypto';
import { defineAsset } from '../lib/app/asset.ts';
import { toAsset } from '../lib/http/asset.ts';

/**
 * The script that starts Swagger UI with openapi.json. `validatorUrl: null` keeps it from sending a request to another
 * host. Swagger UI's own `resolveSubtree` reads the whole document for each operation that a reader opens, which takes
 * seconds. This one replaces the references of the operation only. All references in openapi.json are to its components.
 */
const START = `
const find = (openapi, path) => path.reduce((value, key) => value[key], openapi);
const resolve = (openapi, value) => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolve(openapi, item));
  const { $ref, ...fields } = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(openapi, item)]));
  return $ref === undefined ? fields : { ...resolve(openapi, find(openapi, $ref.slice('#/'.length).split('/'))), ...fields };
};
const resolveSubtree = async (openapi, path) => ({ spec: resolve(openapi, find(openapi, path)), errors: [] });
SwaggerUIBundle({
  url: 'openapi.json', domNode: document.getElementById('reference'), docExpansion: 'none', defaultModelsExpandDepth: -1, filter: true, deepLinking: true,
  displayRequestDuration: true, validatorUrl: null, presets: [SwaggerUIBundle.presets.apis], plugins: [{ fn: { resolveSubtree } }],
});
`;

export const asset = defineAsset(
  {
    path: '/docs',
    summary: 'The API reference as a page',
    files: ['renderer.js', 'renderer.css'],
    uses: {},
    impact: 'customers cannot read the API reference in a browser',
  },
  (files) => {
    const [script, style] = [inScript(files['renderer.js']), files['renderer.css']];
    const contentSecurityPolicy = [
      "default-src 'none'",
      // The page may run only these inline scripts, and use only this inline style.
      `script-src ${sourceOf(script)} ${sourceOf(START)}`,
      `style-src ${sourceOf(style)}`,
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
    const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>API reference</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript. The same content as a document: <a href="openapi.json">openapi.json</a></noscript>
<div id="reference"></div>
<script>${script}</script>
<script>${START}</script>
</body>
</html>
`;
    return { type: 'text/html; charset=utf-8', text, contentSecurityPolicy };
  },
);

/**
 * Returns a script that can stand inside an HTML document. Escapes each `<` that would end the script or begin a
 * comment. Such a `<` occurs only in strings and regular expressions, where the escape has the same meaning.
 */
function inScript(text: string): string {
  return text.replace(/<(?=!--|\/?script)/gi, '\\x3C');
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

export const handler = toAsset(asset, import.meta.dirname);
