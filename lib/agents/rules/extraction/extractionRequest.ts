import { MIMEType } from 'node:util';
import * as z from 'zod';
import { providers } from '../../../bedrock/rules.ts';
import { isCharset } from '../../../files/text.ts';
import { optional } from '../../../shared/schema.ts';

/** A file of this size still fits into a request as base64. */
export const FILE_BYTES = 4_000_000;
const MAX_FILE_NAME = 255;
const MAX_MIME_TYPE = 255;

const formats = {
  'text/csv': 'csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/plain': 'text',
  'application/pdf': 'pdf',
} as const;
export type FileFormat = (typeof formats)[keyof typeof formats];

const MimeType = z
  .string()
  .min(1)
  .max(MAX_MIME_TYPE)
  .meta({
    examples: [...Object.keys(formats), 'text/csv; charset=shift_jis'],
    description:
      `One of ${Object.keys(formats).join(', ')}. The parameter \`charset\` names the encoding of a text or CSV that is ` +
      'neither UTF-8 nor UTF-16. Case and other parameters do not matter.',
  })
  .transform((text, context): { readonly format: FileFormat; readonly charset?: string } => {
    const refuse = (message: string) => {
      context.issues.push({ code: 'custom', input: text, message });
      return z.NEVER;
    };
    const essence = text.replace(/;.*/s, '').trim().toLowerCase();
    if (essence === '') return refuse('must not be empty');
    if (!Object.hasOwn(formats, essence)) return refuse(`must be one of ${Object.keys(formats).join(', ')}`);
    const format = formats[essence as keyof typeof formats];
    const charset = new MIMEType(`text/plain;${text.replace(/^[^;]*/, '')}`).params.get('charset')?.trim();
    if ((format !== 'csv' && format !== 'text') || charset === undefined || charset === '') return { format };
    return isCharset(charset)
      ? { format, charset }
      : refuse('must have a charset of the WHATWG Encoding Standard, such as utf-8, windows-1252, shift_jis or gbk');
  });

const FileBase64 = z
  .string()
  .min(1)
  .describe('The content of the file in base64, at most 4,000,000 bytes when it is decoded. White space is ignored.')
  .transform((text, context): Buffer => {
    const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
    const refuse = (message: string) => {
      context.issues.push({ code: 'custom', input: undefined, message });
      return z.NEVER;
    };
    if (packed === '') return refuse('must not be empty');
    const digits = packed.replace(/={1,2}$/, '');
    // Finds one invalid character. A pattern that matches the whole text would overflow the stack at 5 MB.
    if (digits === '' || /[^A-Za-z0-9+/]/.test(digits) || digits.length % 4 === 1) return refuse('must be base64');
    const bytes = Buffer.from(packed, 'base64');
    return bytes.length > FILE_BYTES ? refuse(`must be at most ${FILE_BYTES} bytes when it is decoded`) : bytes;
  });

export const ExtractionRequest = z.object({
  fileBase64: FileBase64,
  mimeType: MimeType,
  provider: optional(z.enum(providers)).describe(
    'The family of the model that reads the file. By default one that the operator of this service has set up.',
  ),
  fileName: optional(z.string().min(1).max(MAX_FILE_NAME)).describe('For your own notes. The service ignores it.'),
});
