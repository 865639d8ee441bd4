/** Addresses that can get mail, each with the address that mails have. */
export const MAILABLE: readonly (readonly [text: string, mailed: string])[] = [
  ['a@xn--e1afmkfd.xn--p1ai', 'a@xn--e1afmkfd.xn--p1ai'],
  ['a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai'],
  ['a@münchen.example', 'a@xn--mnchen-3ya.example'],
  ...Array.from("&=/#!~+'*?^_`{|}$%-", (character): [string, string] => {
    const address = `a${character}b@mail.example`;
    return [address, address];
  }),
];

export const NOT_MAILABLE: readonly string[] = [
  'a',
  '@mail.example',
  'a@',
  'a@example',
  'a@mail..example',
  'a@-mail.example',
  '.a@mail.example',
  'a..b@mail.example',
  '"a b"@mail.example',
  'ä@mail.example',
  'a@mail.example ',
  ' a@mail.example',
  'a@mail.example\n',
  'a@mail.example\r\nBcc: b@mail.example',
  'A <a@mail.example>',
  'a@127.0.0.1',
  'a@[127.0.0.1]',
  `${'x'.repeat(65)}@mail.example`,
];
