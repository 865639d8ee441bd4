import fc from 'fast-check';
import { unicodeText } from './unicodeText.ts';

const part = fc.oneof(unicodeText().map(encodeURIComponent), fc.stringMatching(/^[\w.~!$&'()*+,;=:@-]{0,10}$/));

/** Generates URLs with any characters. `fc.webUrl` takes a second for its first URL, because it uses the unit `binary`. */
export const httpUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), fc.array(part), part, part)
  .map(
    ([scheme, authority, path, query, fragment]) =>
      `${scheme}://${[authority, ...path].join('/')}${query && `?${query}`}${fragment && `#${fragment}`}`,
  );
