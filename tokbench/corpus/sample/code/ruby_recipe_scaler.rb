#!/usr/bin/env ruby
# frozen_string_literal: true

require "forwardable"
require "optparse"
require "set"

# An amount with a unit, kept as an exact fraction so that scaling never drifts.
class Quantity
  include Comparable

  UNITS = {
    g: [:mass, 1r],
    kg: [:mass, 1000r],
    ml: [:volume, 1r],
    tsp: [:volume, 5r],
    tbsp: [:volume, 15r],
    l: [:volume, 1000r],
    pc: [:count, 1r]
  }.freeze
  VULGAR = { 1/4r => "¼", 1/3r => "⅓", 1/2r => "½", 2/3r => "⅔", 3/4r => "¾" }.freeze

  attr_reader :amount, :unit

  def initialize(amount, unit)
    raise ArgumentError, "unknown unit: #{unit}" unless UNITS.key?(unit)

    @amount = amount.to_r
    @unit = unit
  end

  def *(factor) = Quantity.new(amount * factor, unit)

  def base = amount * UNITS[unit].last

  def dimension = UNITS[unit].first

  def <=>(other)
    base <=> other.base if dimension == other.dimension
  end

  # Picks the largest unit of the same kind that leaves at least one whole.
  def tidy
    candidates = UNITS.select { |_, (kind, size)| kind == dimension && base >= size }
    name, (_, size) = candidates.max_by { |_, (_, size)| size }
    name ? Quantity.new(base / size, name) : self
  end

  def to_s
    whole, rest = amount.divmod(1)
    glyph = VULGAR[rest]
    number =
      if rest.zero? then whole.to_s
      elsif glyph then "#{whole unless whole.zero?}#{glyph}"
      else format("%.1f", amount)
      end
    unit == :pc ? number : "#{number} #{unit}"
  end
end

Ingredient = Struct.new(:name, :quantity, :note, keyword_init: true) do
  def to_s
    [quantity.to_s.rjust(9), name, (note && "(#{note})")].compact.join(" ")
  end
end

class Recipe
  extend Forwardable
  def_delegators :@ingredients, :each, :size
  include Enumerable

  attr_reader :title, :servings

  def self.define(title, servings:, &block)
    new(title, servings).tap { |recipe| recipe.instance_eval(&block) }
  end

  def initialize(title, servings, ingredients = [])
    @title = title
    @servings = servings
    @ingredients = ingredients
  end

  def add(amount, unit, name, note: nil)
    @ingredients << Ingredient.new(name: name, quantity: Quantity.new(amount, unit), note: note)
  end

  def scale_to(new_servings)
    factor = new_servings.to_r / servings
    scaled = map do |item|
      item.dup.tap { |copy| copy.quantity = (item.quantity * factor).tidy }
    end
    Recipe.new(title, new_servings, scaled)
  end

  def without(*names)
    unwanted = names.to_set
    Recipe.new(title, servings, reject { |item| unwanted.include?(item.name) })
  end
end

options = { servings: 10, skip: [] }
OptionParser.new do |opts|
  opts.banner = "Usage: #{File.basename($PROGRAM_NAME)} [options]"
  opts.on("-s", "--servings N", Integer, "how many people to feed") { |n| options[:servings] = n }
  opts.on("-x", "--skip NAMES", Array, "ingredients to leave out") { |names| options[:skip] |= names }
end.parse!

pancakes = Recipe.define("Crêpes au blé noir", servings: 4) do
  add 250, :g, "buckwheat flour"
  add 1/2r, :l, "water", note: "cold"
  add 1, :pc, "egg"
  add 3/4r, :tsp, "salt"
  add 2, :tbsp, "melted butter", note: "plus some for the pan"
end

batch = pancakes.scale_to(options[:servings]).without(*options[:skip])
puts "#{batch.title} × #{batch.servings}", "-" * 32
batch.each { |ingredient| puts ingredient }
