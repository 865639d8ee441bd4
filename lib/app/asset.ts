import type { Capability, Opened, Uses } from './capability.ts';

export interface AssetContent {
  readonly type: string;
  readonly text: string;
  /** The policy of an HTML document. By default, a header forbids all scripts, styles and images. */
  readonly contentSecurityPolicy?: string;
  readonly pages?: Readonly<Record<string, AssetContent>>;
}

export interface AssetDeclaration<U extends Uses, F extends string> {
  readonly path: `/${string}`;
  readonly hasPages?: true;
  readonly summary: string;
  readonly files: readonly F[];
  readonly uses: U;
  readonly impact: string;
}

/** A process calls this function once, with the texts of `files`. */
export type MakeContent<U extends Uses, F extends string> = (
  files: Readonly<Record<F, string>>,
  deps: Opened<U>,
) => AssetContent;

interface AssetKind {
  readonly auth: 'none';
  readonly kind: 'asset';
}

export interface AssetOf<U extends Uses, F extends string> extends AssetDeclaration<U, F>, AssetKind {
  readonly make: MakeContent<U, F>;
}

export type Asset = AssetDeclaration<Record<string, Capability<unknown>>, string> &
  AssetKind & { readonly make: (files: never, deps: never) => AssetContent };

export function defineAsset<U extends Uses, F extends string>(
  declaration: AssetDeclaration<U, F>,
  make: MakeContent<U, F>,
): AssetOf<U, F> {
  return { ...declaration, make, auth: 'none', kind: 'asset' };
}
