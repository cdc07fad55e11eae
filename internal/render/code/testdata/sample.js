#!/usr/bin/env node
'use strict';
import { readFile } from 'node:fs/promises';

/**
 * Counts words.
 * @param {string} text
 */
export async function* words(text = "", { limit = 1_000 } = {}) {
  const re = /[\p{L}\d]+(?:'[a-z]+)?/giu;
  for (const [word] of text.matchAll(re)) {
    yield `word: ${word.toLowerCase()}
      and ${limit > 10 ? `nested ${limit}` : 'none'} ends`;
  }
}

class Counter extends Map {
  #total = 0x1f;
  static get empty() { return null; }
  add(key) {
    this.set(key, (this.get(key) ?? 0) + 1); // one more
    this.#total **= 2;
    return a / b / c;
  }
}

const s = 'it\'s', d = "say \"hi\"\u00e9";
try { await readFile(s); } catch (e) { console.error(e?.message); }
