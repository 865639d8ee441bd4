import type { Capability, Opened, Uses } from './capability.ts';

export interface AssetContent {
  /** With its character set. */
  readonly type: string;
  readonly text: string;
  /** If undefined, the default header forbids all scripts, styles and images. */
  readonly contentSecurityPolicy?: string;
  /** Of an asset with `hasPages`, by the last part of their paths. */
  readonly pages?: Readonly<Record<string, AssetContent>>;
}

/**
 * A public file, such as the API reference. Route, function, IAM policy, environment, bundle and alarm derive from this
 * declaration.
 */
export interface AssetDeclaration<U extends Uses, F extends string> {
  readonly path: `/${string}`;
  /** `/<path>/{page}` leads to the asset too. */
  readonly hasPages?: true;
  readonly summary: string;
  /** Files that the build copies next to the bundle. */
  readonly files: readonly F[];
  readonly uses: U;
  /** The text of the alarm: what is broken, and for whom. */
  readonly impact: string;
}

/** Called once per process, with the texts of `files`. */
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
