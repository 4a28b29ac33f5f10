/**
 * An instant as text: ISO 8601, or the date of HTTP and mail.
 * Owns the calendar, so that no machine's own zone and no day that a month lacks ever counts; must not read a clock.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

/** Between date and time a T or a blank; seconds, fraction and zone may be missing, and so may the time. */
const ISO =
  /^(\d{4})([-/])(\d{2})\2(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?: ?(Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/;
const MAIL =
  /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) (GMT|UTC|[+-]\d{4})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Epoch milliseconds, finer fractions cut off; UTC where no zone is written. Null for what is no instant, as 30 February. */
export function instantFromText(text: string): number | null {
  return usualInstant(text) ?? anyInstant(text);
}

const [ZERO, NINE] = ['0'.charCodeAt(0), '9'.charCodeAt(0)];
/** Where `2026-11-27T08:05:00` ends. */
const SECONDS_END = 19;

/**
 * What programs write, `2026-11-27T08:05:00.250Z`, read where its parts stand: a bill may have millions of them, and an
 * expression takes ten times as long. Null for every other way to write an instant.
 */
function usualInstant(text: string): number | null {
  if (text.length < SECONDS_END || !isUsual(text)) return null;
  const isUtc = text.endsWith('Z');
  const end = isUtc ? text.length - 1 : text.length;
  const ms = end === SECONDS_END ? 0 : text[SECONDS_END] === '.' ? thousandths(text, end) : NaN;
  const days = daysTo(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2));
  const [hour, minute, second] = [digitsAt(text, 11, 2), digitsAt(text, 14, 2), digitsAt(text, 17, 2)];
  if (days === null || !(hour < 24 && minute < 60 && second < 60)) return null;
  const at = days * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + ms;
  return Number.isNaN(at) ? null : at;
}

/** Of the fraction that ends at `end`. */
function thousandths(text: string, end: number): number {
  const length = end - SECONDS_END - 1;
  if (length < 1 || length > 9) return NaN;
  const fraction = digitsAt(text, SECONDS_END + 1, length);
  return length < 3 ? fraction * 10 ** (3 - length) : Math.floor(fraction / 10 ** (length - 3));
}

/** Its signs stand where they usually do. */
function isUsual(text: string): boolean {
  const isTime = (text[10] === 'T' || text[10] === ' ') && text[13] === ':' && text[16] === ':';
  return isTime && text[4] === '-' && text[7] === '-';
}

/** A number of so many digits; NaN where one of them is none. */
function digitsAt(text: string, from: number, length: number): number {
  let value = 0;
  for (let at = from; at < from + length; at += 1) {
    const unit = text.charCodeAt(at);
    if (!(unit >= ZERO && unit <= NINE)) return NaN;
    value = value * 10 + unit - ZERO;
  }
  return value;
}

function anyInstant(text: string): number | null {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, , month, day, hour = '00', minute = '00', second = '00', fraction = '', zone] = iso;
    if (zone !== undefined && iso[5] === undefined) return null;
    return instantOf({ year, month, day, hour, minute, second, fraction, zone: zone ?? 'Z' });
  }
  const mail = MAIL.exec(text);
  if (mail === null) return null;
  const [, day, name = '', year, hour, minute, second, zone = 'Z'] = mail;
  const month = String(MONTHS.indexOf(name) + 1);
  return instantOf({ year, month, day, hour, minute, second, fraction: '', zone });
}

interface Written {
  readonly year: string | undefined;
  readonly month: string | undefined;
  readonly day: string | undefined;
  readonly hour: string | undefined;
  readonly minute: string | undefined;
  readonly second: string | undefined;
  readonly fraction: string;
  readonly zone: string;
}

function instantOf({ fraction, zone, ...fields }: Written): number | null {
  const { year, month, day, hour, minute, second } = fields;
  const days = daysTo(Number(year), Number(month), Number(day));
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  const offsetMs = zoneOffsetMs(zone);
  if (days === null || !isTime || offsetMs === null) return null;
  const time = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * SECOND_MS;
  return (
    days * DAY_MS +
    time +
    Number(fraction.length === 3 ? fraction : fraction.padEnd(3, '0').slice(0, 3)) -
    offsetMs
  );
}

function zoneOffsetMs(zone: string): number | null {
  if (zone === 'Z') return 0;
  const parts = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (parts === null) return 0;
  const [, sign, hours, minutes = '00'] = parts;
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
}

const COMMON = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LEAP = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** From the first of January 1970; null for a day that the month does not have. */
function daysTo(year: number, month: number, day: number): number | null {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = leap ? LEAP : COMMON;
  if (!(day >= 1 && day <= (lengths[month - 1] ?? 0))) return null;
  let before = 0;
  for (let earlier = 0; earlier < month - 1; earlier += 1) before += lengths[earlier] ?? 0;
  return daysBefore(year) - daysBefore(1970) + before + day - 1;
}

/** Days of the Gregorian calendar before the first of January. */
function daysBefore(year: number): number {
  const last = year - 1;
  return last * 365 + Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400);
}
