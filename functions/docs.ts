import { hash } from 'node:crypto';
import { type AssetContent, defineAsset } from '../lib/app/asset.ts';
import { toAsset } from '../lib/http/asset.ts';
import { deploymentNames, placeholders } from '../lib/openapi/deployment.ts';
import { SCRIPT_MARK, STYLE_MARK } from '../lib/openapi/docsMarks.ts';
import { html } from '../lib/shared/html.ts';

export const asset = defineAsset(
  {
    path: '/docs',
    hasPages: true,
    summary: 'The guides and the API reference as pages',
    files: ['docs.json'],
    uses: { deployment: deploymentNames },
    impact: 'customers cannot read the guides and the API reference in a browser',
  },
  (files, { deployment }) => {
    const texts = JSON.parse(files['docs.json']) as Readonly<Record<string, string>>;
    const {
      '': main = '',
      'docs.js': unsafeScript = '',
      'docs.css': style = '',
      'search.json': index = '',
      ...rest
    } = texts;
    const script = inScript(unsafeScript);
    const contentSecurityPolicy = [
      "default-src 'none'",
      // A page may run only this inline script, and use only this inline style. The script is inline, because a reader
      // at the limit of requests could otherwise get the page without its script.
      `script-src ${sourceOf(script)}`,
      `style-src ${sourceOf(style)}`,
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
    const page = (text: string): AssetContent => ({
      type: 'text/html; charset=utf-8',
      text: text
        .replaceAll(placeholders.url, () => String(html`${deployment.url}`))
        .replaceAll(placeholders.serviceName, () => String(html`${deployment.serviceName}`))
        .replace(STYLE_MARK, () => style)
        .replace(SCRIPT_MARK, () => script),
      contentSecurityPolicy,
    });
    const pages = Object.entries(rest).map(([name, text]) => [name, page(text)] as const);
    const search = { type: 'application/json; charset=utf-8', text: index };
    return { ...page(main), pages: { ...Object.fromEntries(pages), 'search.json': search } };
  },
);

/**
 * Returns a script that can stand inside an HTML document, where `<!--`, `<script` and `</script` have a meaning of
 * their own. In strings and regular expressions, the escape means the same as `<`.
 */
function inScript(text: string): string {
  return text.replace(/<(?=!--|\/?script)/gi, '\\x3C');
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

export const handler = toAsset(asset, import.meta.dirname);
