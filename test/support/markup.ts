import fc from 'fast-check';

/** Returns the tags in HTML. Escaped text has none. */
export const tagsOf = (html: string) => html.match(/<[a-z!/][^>]*>/gi) ?? [];

/** Returns the tags in HTML without the addresses of links. */
export const markupOf = (html: string) => tagsOf(html).map((tag) => tag.replace(/href="[^"]*"/, 'href'));

/** Generates texts that change the markup of HTML if they are not escaped. */
export const markupText = fc.string({
  unit: fc.constantFrom(...Array.from('<>"\'&a/= \n`'), '😀', '&lt;', '<script>', '-->', '</style>'),
});
