import type { Capability, Opened, Uses } from './capability.ts';

/** What an asset answers with. */
export interface AssetContent {
  /** The media type, with the character set. */
  readonly type: string;
  readonly text: string;
  /** The policy of a document for browsers; nothing at all is allowed without one. */
  readonly contentSecurityPolicy?: string;
}

/** One file for readers, declared once like an endpoint: route, function, IAM, environment, bundle and alarm text derive from it. */
export interface AssetDeclaration<U extends Uses, F extends string> {
  readonly path: `/${string}`;
  readonly summary: string;
  /** The files that the build puts beside the bundle. */
  readonly files: readonly F[];
  readonly uses: U;
  /** What is broken for whom when this asset is not there: the text of its alarm. */
  readonly impact: string;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
}

/** Makes the content, once per process, of the texts of the files and what it may use. */
export type Make<U extends Uses, F extends string> = (
  files: Readonly<Record<F, string>>,
  deps: Opened<U>,
) => AssetContent;

/** An asset is public and always the same between two deployments. */
interface AssetKind {
  readonly auth: 'none';
  readonly kind: 'asset';
}

export interface AssetOf<U extends Uses, F extends string> extends AssetDeclaration<U, F>, AssetKind {
  readonly make: Make<U, F>;
}

/** An asset whose types are not needed, as the registry's readers see it. */
export type Asset = AssetDeclaration<Record<string, Capability<unknown>>, string> &
  AssetKind & { readonly make: (files: never, deps: never) => AssetContent };

/** Declares an asset. Importing a declaration has no effect, as with endpoints. */
export function defineAsset<U extends Uses, F extends string>(
  declaration: AssetDeclaration<U, F>,
  make: Make<U, F>,
): AssetOf<U, F> {
  return { ...declaration, make, auth: 'none', kind: 'asset' };
}
