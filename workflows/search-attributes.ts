/**
 * The attributes by which operators find workflows: one typed key each.
 * Owns their names and types; values are written on transitions only, and never hold a secret: no codec covers them.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Status of the entity, in the words of its machine. */
export const STATUS = defineSearchAttributeKey('ParleyStatus', SearchAttributeType.KEYWORD);
/** Id of the run that an entity belongs to. */
export const RUN = defineSearchAttributeKey('ParleyRun', SearchAttributeType.KEYWORD);
/** Id of the user that an entity belongs to. */
export const OWNER = defineSearchAttributeKey('ParleyOwner', SearchAttributeType.KEYWORD);
/** Tags of the start request. */
export const TAGS = defineSearchAttributeKey('ParleyTags', SearchAttributeType.KEYWORD_LIST);

/** A server refuses the task for a value over 2 KB as JSON writes it, or over 255 characters in SQL. */
export const SEARCHED_BYTES_MAX = 255;
export const SEARCHED_LIST_BYTES_MAX = 2_000;

/** What a namespace must know before a workflow starts in it. */
export const SEARCH_ATTRIBUTES = [STATUS, RUN, OWNER, TAGS] as const;
