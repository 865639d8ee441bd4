import { type Html, html } from '../../../lib/shared/html.ts';

/** Marks text as HTML. Only for markup that is made of our own sources. */
export function trusted(markup: string): Html {
  return html(Object.assign([markup], { raw: [markup] }));
}

/** Makes the ids that GitHub gives to headings, because links in the guides use them. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Returns the beginning of a page with its whole head. `style` loads or contains the styles. */
export function documentHead(title: string, style: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${style}
</head>`;
}
