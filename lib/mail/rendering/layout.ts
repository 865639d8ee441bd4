import { type Html, html } from '../../shared/html.ts';

/**
 * Styles are inline, because mail programs ignore style sheets. They show `preview` after the subject in their list of
 * mails.
 */
export function mailDocument(title: string, body: readonly Html[], preview?: string): string {
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${title}</title></head>
<body style="margin:0;padding:32px 16px;background:#f4f4f6;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Arial,sans-serif;color:#1b1b22">
${preview === undefined ? '' : html`<div style="display:none;max-height:0;overflow:hidden">${preview}</div>\n`}<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;overflow-wrap:anywhere">
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

export function paragraph(text: string): Html {
  return html`<p style="margin:0 0 16px">${text}</p>\n`;
}

export function kicker(text: string): Html {
  return html`<p style="margin:0 0 8px;font-size:14px;color:#5b5b66">${text}</p>\n`;
}

export function quote(text: string): Html {
  return html`<blockquote style="margin:0 0 16px;padding:12px 16px;background:#f4f4f6;border-left:4px solid #2f4bd8;border-radius:4px;white-space:pre-line">${text}</blockquote>\n`;
}

export function note(text: string): Html {
  return html`<p style="margin:24px 0 0;font-size:14px;color:#5b5b66">${text}</p>\n`;
}

export function linkedNote(text: string, url: string, link: string): Html {
  return html`<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e4e4ea;font-size:14px;color:#5b5b66">${text} <a href="${url}" style="color:#5b5b66">${link}</a></p>\n`;
}

export function button(url: string, text: string): Html {
  return html`<p style="margin:24px 0"><a href="${url}" style="display:inline-block;padding:12px 20px;background:#2f4bd8;color:#ffffff;text-decoration:none;font-weight:600;border-radius:8px">${text}</a></p>\n`;
}

export function bareLink(url: string): Html {
  return html`<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a href="${url}" style="color:#2f4bd8">${url}</a></p>\n`;
}
