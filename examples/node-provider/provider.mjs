#!/usr/bin/env node
// Counts the words of one text: one JSON request on standard input, one JSON response on standard output.
// `--doctor` proves that it works. Needs Node 18 and nothing else.
import { readFileSync, writeSync } from "node:fs";

const REQUEST = "loopx_node_word_count_request_v0";
const RESPONSE = "loopx_node_word_count_response_v0";
const DEEPEST = 64;

class RequestError extends Error {}

/** Return the one JSON value in `bytes`; throw RequestError where two readers could read different things. */
function strictJson(bytes) {
  let text, value;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new RequestError(`the request is not JSON in UTF-8: ${error.message}`);
  }
  if (keysWritten(text) !== keysKept(value)) throw new RequestError("a key stands twice in one object");
  return value;
}

/** Count the keys in the text of a JSON document: every string that a colon follows. */
function keysWritten(text) {
  let keys = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"[ \t\r\n]*(:?)/g)) keys += colon.length;
  return keys;
}

/** Count the keys that are left in the value, level by level, and refuse what strict JSON excludes. */
function keysKept(value) {
  let keys = 0;
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const below = [];
    for (const node of level) {
      if (typeof node === "string" && /\p{Surrogate}/u.test(node)) throw new RequestError("half a character");
      if (typeof node === "number" && !Number.isFinite(node)) throw new RequestError("a number is too large");
      if (typeof node !== "object" || node === null) continue;
      if (depth === DEEPEST) throw new RequestError(`nested deeper than ${DEEPEST} levels`);
      const names = Array.isArray(node) ? [] : Object.keys(node);
      keys += names.length;
      for (const part of names) below.push(part);
      for (const part of Object.values(node)) below.push(part);
    }
    level = below;
  }
  return keys;
}

/** Return the response to a request; throw RequestError when it cannot be served. */
function answer(request) {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw new RequestError("the request is not a JSON object");
  }
  const { schema_version: version, text, ...others } = request;
  if (version !== REQUEST) throw new RequestError(`schema_version must be ${REQUEST}`);
  if (Object.keys(others).length > 0) throw new RequestError("the only other field is text");
  if (typeof text !== "string") throw new RequestError("text must be a string");
  const words = text.split(/\s+/u).filter((word) => word !== "");
  return { ok: true, schema_version: RESPONSE, words: words.length, different_words: new Set(words).size };
}

/** Count a known text, and see that a request nobody should accept is refused; return the exit status. */
function doctor() {
  const { words, different_words: different } = answer({ schema_version: REQUEST, text: "one two\none" });
  try {
    strictJson(Buffer.from('{"text": "a", "text": "b"}'));
  } catch (error) {
    if (error instanceof RequestError && words === 3 && different === 2) return 0;
  }
  process.stderr.write("the doctor did not get the answers it knows\n");
  return 1;
}

function serve() {
  let response;
  try {
    response = answer(strictJson(readFileSync(0)));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    response = { ok: false, schema_version: RESPONSE, error: error.message };
  }
  writeSync(1, `${JSON.stringify(response)}\n`);
  return response.ok ? 0 : 1;
}

process.exitCode = process.argv[2] === "--doctor" ? doctor() : serve();
