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

/** What a namespace must know before a workflow starts in it. */
export const SEARCH_ATTRIBUTES = [STATUS, RUN, OWNER, TAGS] as const;
