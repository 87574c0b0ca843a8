import type { Reader, Writer } from 'protobufjs/minimal.js';
import { LAST_RFC3339_MS, toRfc3339 } from '@rollkeeper/machinery/clock';
import { badRequest } from '../../schema/errors/index.js';

/** Messages that are a text or a number in JSON. */

export function readQuantity(reader: Reader): string {
  let text = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) text = reader.string();
    else reader.skipType(tag & 7);
  }
  return text;
}

/**
 * @returns undefined for the zero time, which is an empty message
 * @throws StatusError 400 for times that RFC 3339 cannot write
 */
export function readTime(reader: Reader, isMicro: boolean): string | undefined {
  let seconds: number | undefined;
  let nanos = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) seconds = Number(reader.int64());
    else if (tag >>> 3 === 2) nanos = reader.int32();
    else reader.skipType(tag & 7);
  }
  if (seconds === undefined) return undefined;
  if (Math.abs(seconds * 1000) > LAST_RFC3339_MS)
    throw badRequest(`there is no time ${seconds} seconds after 1970`);
  const whole = toRfc3339(seconds * 1000).slice(0, -1);
  const micros = String(Math.floor(nanos / 1000)).padStart(6, '0');
  return isMicro ? `${whole}.${micros}Z` : `${whole}Z`;
}

export function readIntOrString(reader: Reader): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) isText = Number(reader.int64()) === 1;
    else if (tag >>> 3 === 2) number = reader.int32();
    else if (tag >>> 3 === 3) text = reader.string();
    else reader.skipType(tag & 7);
  }
  return isText ? text : number;
}

/** The same, written. */
export function writeQuantity(writer: Writer, text: string): void {
  writer.uint32(TEXT_FIELD).string(text);
}

/** Times that are none are left out: the store may hold anything. */
export function writeTime(writer: Writer, text: string, isMicro: boolean): void {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return;
  const seconds = Math.floor(ms / 1000);
  writer.uint32(8).int64(seconds);
  const nanos = isMicro ? nanosIn(text) : 0;
  writer.uint32(16).int32(nanos);
}

function nanosIn(text: string): number {
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? '';
  return Number(fraction.padEnd(9, '0'));
}

export function writeIntOrString(writer: Writer, value: string | number): void {
  const isText = typeof value === 'string';
  writer.uint32(8).int64(isText ? 1 : 0);
  writer.uint32(16).int32(isText ? 0 : value);
  writer.uint32(26).string(isText ? value : '');
}

/** Field 1, a text. */
const TEXT_FIELD = 10;
