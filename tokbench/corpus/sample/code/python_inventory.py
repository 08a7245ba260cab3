"""Track stock levels for a small shop and suggest what to reorder."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Iterable, Iterator

DEFAULT_REORDER_POINT = 5
TAX_RATE = Decimal("0.0825")
CENT = Decimal("0.01")


class OutOfStockError(Exception):
    """Raised when more units are requested than the shelf holds."""

    def __init__(self, sku: str, wanted: int, available: int) -> None:
        super().__init__(f"{sku}: wanted {wanted}, only {available} left")
        self.sku = sku
        self.shortfall = wanted - available


@dataclass(order=True)
class Item:
    sku: str
    name: str = field(compare=False)
    unit_price: Decimal = field(compare=False)
    quantity: int = field(default=0, compare=False)
    tags: set[str] = field(default_factory=set, compare=False)

    @property
    def stock_value(self) -> Decimal:
        return self.unit_price * self.quantity

    def price_with_tax(self) -> Decimal:
        gross = self.unit_price * (1 + TAX_RATE)
        return gross.quantize(CENT, rounding=ROUND_HALF_UP)


class Inventory:
    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items: dict[str, Item] = {item.sku: item for item in items}
        self._sold: defaultdict[str, int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        yield from sorted(self._items.values())

    def receive(self, sku: str, count: int) -> None:
        if count <= 0:
            raise ValueError(f"cannot receive {count} units")
        self._items[sku].quantity += count

    def sell(self, sku: str, count: int = 1) -> Decimal:
        item = self._items[sku]
        if count > item.quantity:
            raise OutOfStockError(sku, count, item.quantity)
        item.quantity -= count
        self._sold[sku] += count
        return item.price_with_tax() * count

    def low_stock(self, threshold: int = DEFAULT_REORDER_POINT) -> list[Item]:
        # Best sellers come first, so they are reordered before slow movers.
        short = [item for item in self if item.quantity <= threshold]
        return sorted(short, key=lambda item: -self._sold[item.sku])

    def value_by_tag(self) -> dict[str, Decimal]:
        totals: dict[str, Decimal] = {}
        for item in self:
            for tag in item.tags or {"untagged"}:
                totals[tag] = totals.get(tag, Decimal(0)) + item.stock_value
        return totals

    def save(self, path: Path) -> None:
        rows = [
            {"sku": i.sku, "name": i.name, "price": str(i.unit_price), "qty": i.quantity}
            for i in self
        ]
        path.write_text(json.dumps(rows, indent=2, ensure_ascii=False), encoding="utf-8")


def main() -> None:
    shop = Inventory(
        [
            Item("TEA-014", "Earl Grey, 50 g", Decimal("6.40"), 12, {"tea", "black"}),
            Item("TEA-022", "Sencha 煎茶", Decimal("9.75"), 4, {"tea", "green"}),
            Item("MUG-003", "Café mug, 350 ml", Decimal("11.00"), 7),
        ]
    )
    receipt = shop.sell("TEA-014", 9) + shop.sell("MUG-003", 2)
    print(f"Taken at the till: {receipt:>8.2f}")

    try:
        shop.sell("TEA-022", 10)
    except OutOfStockError as err:
        print(f"Short by {err.shortfall}: {err}")

    for item in shop.low_stock():
        print(f"  reorder {item.sku:<8} {item.name:<20} ({item.quantity} left)")


if __name__ == "__main__":
    main()
