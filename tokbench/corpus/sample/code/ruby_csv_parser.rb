# frozen_string_literal: true

require "bigdecimal"
require "date"
require "strscan"

# Reads comma-separated text with quoted fields into rows and typed records.
module TinyCsv
  class ParseError < StandardError
    attr_reader :line

    def initialize(message, line)
      @line = line
      super("#{message} (line #{line})")
    end
  end

  CONVERTERS = {
    /\A[+-]?\d+\z/ => ->(text) { Integer(text, 10) },
    /\A[+-]?\d+\.\d+\z/ => ->(text) { BigDecimal(text) },
    /\A\d{4}-\d{2}-\d{2}\z/ => ->(text) { Date.iso8601(text) },
    /\A(?:yes|no)\z/i => ->(text) { text.casecmp?("yes") },
    /\A\s*\z/ => ->(_text) {}
  }.freeze

  class Parser
    include Enumerable

    def initialize(source, separator: ",", quote: '"')
      @scanner = StringScanner.new(source.delete_prefix("\uFEFF"))
      @separator = separator
      @quote = quote
      @bare_field = /[^#{Regexp.escape(separator + quote)}\r\n]*/
      @line = 1
    end

    def each
      return enum_for(:each) unless block_given?

      yield next_row until @scanner.eos?
    end

    private

    def next_row
      row = []
      loop do
        row << next_field
        next if take(@separator)
        break if @scanner.eos? || @scanner.skip(/\r?\n/)

        raise ParseError.new("unexpected #{@scanner.getch.inspect}", @line)
      end
      @line += 1
      row
    end

    def next_field
      take(@quote) ? quoted_field : @scanner.scan(@bare_field).strip
    end

    def quoted_field
      opened_at = @line
      field = +""
      loop do
        if take(@quote * 2) # a doubled quote stands for one
          field << @quote
        elsif take(@quote)
          return field
        else
          char = @scanner.getch or raise ParseError.new("quote is never closed", opened_at)
          @line += 1 if char == "\n"
          field << char
        end
      end
    end

    def take(literal)
      @scanner.skip(/#{Regexp.escape(literal)}/)
    end
  end

  def self.convert(text)
    _, converter = CONVERTERS.find { |pattern, _| pattern.match?(text) }
    converter ? converter.call(text) : text
  end

  def self.records(source, **options)
    header, *rows = Parser.new(source, **options).to_a
    keys = header.map { |name| name.downcase.gsub(/\W+/, "_").to_sym }
    rows.map { |row| keys.zip(row.map { |text| convert(text) }).to_h }
  end
end

if $PROGRAM_NAME == __FILE__
  sample = <<~CSV
    Title,Author,Published on,Price,In print
    "Winter, and after",Søren Vang,1998-11-02,12.50,yes
    "The ""Little"" Atlas",Inês Prado,2007-05-19,31.00,no
    "Notes from
    a lighthouse",Aoife Ní Bhriain,2015-01-30,8.95,yes
  CSV

  books = TinyCsv.records(sample)
  books.sort_by { |book| -book[:price] }.each do |book|
    status = book[:in_print] ? "✓" : "✗"
    printf("%s %-24s %6.2f  %d\n", status, book[:title].tr("\n", " "), book[:price], book[:published_on].year)
  end

  in_print, gone = books.partition { |book| book[:in_print] }
  puts "#{in_print.size} in print, #{gone.size} not; total #{books.sum { _1[:price] }.to_s('F')}"
end
