import type { Capability, Opened, Uses } from './capability.ts';

export interface AssetContent {
  /** The media type with its character set. */
  readonly type: string;
  readonly text: string;
  /** The content security policy of an HTML document. If undefined, the default header forbids all scripts, styles and images. */
  readonly contentSecurityPolicy?: string;
  /** The pages below the path of an asset with `hasPages`, by the last part of their paths. */
  readonly pages?: Readonly<Record<string, AssetContent>>;
}

/**
 * A public file, such as the API reference. Its route, function, IAM policy, environment, bundle and alarm derive from this
 * declaration.
 */
export interface AssetDeclaration<U extends Uses, F extends string> {
  readonly path: `/${string}`;
  /** True if `/<path>/{page}` leads to the asset too. */
  readonly hasPages?: true;
  readonly summary: string;
  /** The names of the files that the build copies next to the bundle. */
  readonly files: readonly F[];
  readonly uses: U;
  /** The text of the asset's alarm: what is broken without the asset, and for whom. */
  readonly impact: string;
}

/** Returns the asset's content, made from the texts of `files`. It is called once per process. */
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

/** An asset with any type parameters, for code that reads the list of all declarations. */
export type Asset = AssetDeclaration<Record<string, Capability<unknown>>, string> &
  AssetKind & { readonly make: (files: never, deps: never) => AssetContent };

/** Declares an asset. Importing the declaration has no side effects. */
export function defineAsset<U extends Uses, F extends string>(
  declaration: AssetDeclaration<U, F>,
  make: MakeContent<U, F>,
): AssetOf<U, F> {
  return { ...declaration, make, auth: 'none', kind: 'asset' };
}
