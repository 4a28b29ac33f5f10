/**
 * What a user keeps: settings, profiles, descriptions of stored secrets; one JSON document by kind and name.
 * Owns the interface; no value of a secret is in a document (D20).
 */
import type { UserId } from '../core/ids.ts';
import type { Json } from './engine-store.ts';

/** What a document describes. */
export type DocumentKind = 'settings' | 'profile' | 'secret';

/** A document under its name. */
export interface UserDocument {
  readonly name: string;
  readonly body: Json;
}

/** Documents of users, those of each user apart. */
export interface UserDocuments {
  document(userId: UserId, kind: DocumentKind, name: string): Promise<Json | null>;
  /** By name. */
  documents(userId: UserId, kind: DocumentKind): Promise<readonly UserDocument[]>;
  /** Replaces, or adds while there are fewer than `countMax` of the kind; false when there are not. */
  putDocument(
    userId: UserId,
    document: UserDocument & { readonly kind: DocumentKind },
    countMax: number,
  ): Promise<boolean>;
  /** True when there was one. */
  removeDocument(userId: UserId, kind: DocumentKind, name: string): Promise<boolean>;
  renameDocument(
    userId: UserId,
    kind: DocumentKind,
    names: { readonly from: string; readonly to: string },
  ): Promise<'renamed' | 'missing' | 'taken'>;
}
