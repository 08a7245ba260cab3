#!/usr/bin/env node
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const DEFAULT_WIDTH = 72;
const WIDE_CHARS = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]/u;
const LIST_MARKER = /^(\s*)([-*•]|\d+[.)])\s+/;

/** How many terminal columns a string takes up. */
function displayWidth(text) {
  let columns = 0;
  for (const char of text.normalize('NFC')) {
    columns += WIDE_CHARS.test(char) ? 2 : 1;
  }
  return columns;
}

/** Cut a word that is too long for any line into pieces that fit. */
function* splitLongWord(word, width) {
  let piece = '';
  for (const char of word) {
    if (piece && displayWidth(piece + char) > width) {
      yield piece;
      piece = '';
    }
    piece += char;
  }
  if (piece) yield piece;
}

class TextWrapper {
  constructor({ width = DEFAULT_WIDTH, indent = '', breakLongWords = true } = {}) {
    if (!Number.isInteger(width) || width < 1) {
      throw new RangeError(`width must be a positive integer, got ${width}`);
    }
    this.width = width;
    this.indent = indent;
    this.breakLongWords = breakLongWords;
  }

  wrapParagraph(paragraph) {
    const marker = paragraph.match(LIST_MARKER);
    const firstIndent = this.indent + (marker ? marker[0] : '');
    const hangingIndent = ' '.repeat(displayWidth(firstIndent));
    const body = marker ? paragraph.slice(marker[0].length) : paragraph;
    const room = Math.max(1, this.width - displayWidth(firstIndent));

    const lines = [];
    let current = [];
    let used = 0;

    const flush = () => {
      if (current.length === 0) return;
      const prefix = lines.length === 0 ? firstIndent : hangingIndent;
      lines.push(prefix + current.join(' '));
      current = [];
      used = 0;
    };

    for (const word of this.words(body, room)) {
      const size = displayWidth(word);
      if (used > 0 && used + 1 + size > room) flush();
      used += size + (current.length > 0 ? 1 : 0);
      current.push(word);
    }
    flush();
    return lines;
  }

  *words(text, room) {
    for (const word of text.split(/\s+/).filter(Boolean)) {
      if (this.breakLongWords && displayWidth(word) > room) {
        yield* splitLongWord(word, room);
      } else {
        yield word;
      }
    }
  }

  wrap(text) {
    return text
      .split(/\r?\n\s*\r?\n/)
      .map((paragraph) => this.wrapParagraph(paragraph).join('\n'))
      .join('\n\n');
  }
}

function main(argv) {
  const [fileName, widthArg] = argv;
  const width = widthArg === undefined ? DEFAULT_WIDTH : Number.parseInt(widthArg, 10);
  const wrapper = new TextWrapper({ width });

  if (!fileName) {
    const demo = 'A naïve wrapper counts code units, so 東京タワー would seem half as wide as it is.';
    console.log(wrapper.wrap(demo));
    return 0;
  }

  try {
    const source = fs.readFileSync(path.resolve(fileName), 'utf8');
    process.stdout.write(`${wrapper.wrap(source)}\n`);
    return 0;
  } catch (error) {
    console.error(error.code === 'ENOENT' ? `No such file: ${fileName}` : error.message);
    return 1;
  }
}

if (require.main === module) {
  process.exitCode = main(process.argv.slice(2));
}

module.exports = { TextWrapper, displayWidth };
