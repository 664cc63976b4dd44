/** The line need not be complete: nothing that follows the code decides anything (RFC 9112, 4). */
const statusLine = /^HTTP\/\d\.\d (\d{3})(?=[ \r\n])/;
const endOfHead = /\n\r?\n/;

/** Finds the final status in what came of a response, for when Node cannot read its headers. */
export class StatusLine {
  /** Nearly always, Node reads the head from the first chunk, and nobody asks. */
  private unread: Buffer | null = null;
  private text = '';
  private found: number | null = null;

  add(chunk: Buffer): void {
    if (this.unread !== null) this.read();
    this.unread = chunk;
  }

  statusCode(): number | null {
    this.read();
    return this.found;
  }

  private read(): void {
    if (this.unread === null || this.found !== null) return;
    // Like Node, passes over line ends before the line (RFC 9112, 2.2).
    this.text = (this.text + this.unread.toString('latin1')).replace(/^[\r\n]+/, '');
    this.unread = null;
    for (let line; (line = statusLine.exec(this.text));) {
      if (!line[1]!.startsWith('1')) {
        this.found = Number(line[1]);
        return;
      }
      const end = endOfHead.exec(this.text);
      if (!end || line[1] === '101') return; // after a 101 there is no HTTP
      this.text = this.text.slice(end.index).replace(/^[\r\n]+/, '');
    }
  }
}
