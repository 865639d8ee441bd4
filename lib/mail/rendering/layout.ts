import { type Html, html } from '../../shared/html.ts';

/** Mail programs without media queries show the inline styles. In dark mode, some of them invert all colours. */
const STYLE = html`<style>
@media (max-width: 520px) { .page { padding: 0 !important; } .card { padding: 24px 20px !important; border-radius: 0 !important; } .time { display: block; } }
@media (prefers-color-scheme: dark) {
.page { background: #14141a !important; color: #f1f1f4 !important; }
.card { background: #1f1f27 !important; }
.soft { color: #a9a9b6 !important; border-color: #3a3a46 !important; }
.box { background: #2a2a34 !important; border-color: #9fb0ff !important; }
.link { color: #9fb0ff !important; }
.button { background: #9fb0ff !important; color: #14141a !important; }
}
</style>`;

/**
 * Styles are also inline, because some mail programs ignore style sheets. They show `preview` after the subject in their list of
 * mails.
 */
export function mailDocument(title: string, body: readonly Html[], preview?: string): string {
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${title}</title>
${STYLE}</head>
<body class="page" style="margin:0;padding:32px 16px;background:#f4f4f6;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Arial,sans-serif;color:#1b1b22">
${preview === undefined ? '' : html`<div style="display:none;max-height:0;overflow:hidden">${preview}</div>\n`}<div class="card" style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;overflow-wrap:anywhere">
${body}
</div>
</body>
</html>
`;
  return page.toString();
}

export function heading(text: string): Html {
  return html`<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${text}</h1>\n`;
}

export function section(text: string): Html {
  return html`<h2 style="margin:32px 0 12px;font-size:17px;line-height:1.3">${text}</h2>\n`;
}

export function paragraph(text: string): Html {
  return html`<p style="margin:0 0 16px">${text}</p>\n`;
}

export function kicker(text: string): Html {
  return html`<p class="soft" style="margin:0 0 8px;font-size:14px;color:#5b5b66">${text}</p>\n`;
}

export function quote(text: string): Html {
  return html`<blockquote class="box" dir="auto" style="margin:0 0 16px;padding:12px 16px;background:#f4f4f6;border-left:4px solid #2f4bd8;border-radius:4px;white-space:pre-line">${text}</blockquote>\n`;
}

export interface ThreadLine {
  readonly headline: string;
  readonly time: string;
  readonly quote: string | undefined;
}

export function threadBox(lines: readonly ThreadLine[], link: { url: string; text: string } | undefined): Html {
  return html`<div class="box" style="margin:0 0 16px;padding:12px 16px;background:#f4f4f6;border-left:4px solid #2f4bd8;border-radius:4px">
${lines.map(threadLine)}${link ? html`<p style="margin:12px 0 0;font-size:14px"><a class="link" href="${link.url}" style="color:#2f4bd8">${link.text}</a></p>\n` : ''}</div>\n`;
}

function threadLine({ headline, time, quote: text }: ThreadLine, index: number): Html {
  return html`<p style="margin:${index === 0 ? 0 : 12}px 0 0"><strong>${headline}</strong> <span class="soft time" style="font-size:13px;color:#5b5b66;white-space:nowrap">${time}</span></p>
${text === undefined ? '' : html`<p dir="auto" style="margin:2px 0 0">${text}</p>\n`}`;
}

export function note(text: string): Html {
  return html`<p class="soft" style="margin:24px 0 0;font-size:14px;color:#5b5b66">${text}</p>\n`;
}

export function linkedNote(text: string, url: string, link: string): Html {
  return html`<p class="soft" style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e4e4ea;font-size:14px;color:#5b5b66">${text} <a class="soft" href="${url}" style="color:#5b5b66">${link}</a></p>\n`;
}

export function button(url: string, text: string): Html {
  return html`<p style="margin:24px 0"><a class="button" href="${url}" style="display:inline-block;padding:12px 20px;background:#2f4bd8;color:#ffffff;text-decoration:none;font-weight:600;border-radius:8px">${text}</a></p>\n`;
}

export function bareLink(url: string): Html {
  return html`<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a class="link" href="${url}" style="color:#2f4bd8">${url}</a></p>\n`;
}

export function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
