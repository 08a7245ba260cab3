#include <cassert>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

/// A binary heap whose entries can be re-ranked or removed by key.
///
/// The element for which `Compare` yields true against all others is on top.
/// A side table maps each key to its slot, which keeps `update` at O(log n).
template <typename Key, typename Priority, typename Compare = std::less<Priority>>
class IndexedHeap {
    static_assert(std::is_copy_constructible_v<Key>, "keys are stored twice");

public:
    explicit IndexedHeap(Compare compare = Compare{}) : compare_(std::move(compare)) {}

    [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] const Key& top() const { return slots_.front().key; }

    bool contains(const Key& key) const { return index_.count(key) != 0; }

    void push(const Key& key, Priority priority) {
        if (contains(key)) {
            update(key, std::move(priority));
            return;
        }
        index_[key] = slots_.size();
        slots_.push_back({key, std::move(priority)});
        sift_up(slots_.size() - 1);
    }

    void update(const Key& key, Priority priority) {
        const auto slot = index_.at(key);
        slots_[slot].priority = std::move(priority);
        sift_down(sift_up(slot));
    }

    bool erase(const Key& key) {
        const auto found = index_.find(key);
        if (found == index_.end()) return false;
        const auto slot = found->second;
        swap_slots(slot, slots_.size() - 1);
        index_.erase(slots_.back().key);
        slots_.pop_back();
        if (slot < slots_.size()) sift_down(sift_up(slot));
        return true;
    }

    Key pop() {
        assert(!empty());
        Key result = top();
        erase(result);
        return result;
    }

private:
    struct Slot {
        Key key;
        Priority priority;
    };

    bool before(std::size_t a, std::size_t b) const {
        return compare_(slots_[a].priority, slots_[b].priority);
    }

    void swap_slots(std::size_t a, std::size_t b) {
        if (a == b) return;
        std::swap(slots_[a], slots_[b]);
        index_[slots_[a].key] = a;
        index_[slots_[b].key] = b;
    }

    std::size_t sift_up(std::size_t child) {
        while (child > 0) {
            const std::size_t parent = (child - 1) >> 1;
            if (!before(child, parent)) break;
            swap_slots(child, parent);
            child = parent;
        }
        return child;
    }

    void sift_down(std::size_t parent) {
        for (;;) {
            std::size_t best = parent;
            for (std::size_t child = 2 * parent + 1; child <= 2 * parent + 2; ++child) {
                if (child < slots_.size() && before(child, best)) best = child;
            }
            if (best == parent) return;
            swap_slots(parent, best);
            parent = best;
        }
    }

    std::vector<Slot> slots_;
    std::unordered_map<Key, std::size_t> index_;
    Compare compare_;
};

enum class Urgency : std::uint8_t { Routine = 1, Soon = 4, Critical = 0xFF };

int main() {
    const auto more_urgent = [](Urgency a, Urgency b) { return a > b; };
    auto waiting_room = std::make_unique<IndexedHeap<std::string, Urgency, decltype(more_urgent)>>(more_urgent);

    waiting_room->push("Łukasz", Urgency::Routine);
    waiting_room->push("Niamh", Urgency::Soon);
    waiting_room->push("Renée", Urgency::Routine);
    waiting_room->push("Tomás", Urgency::Soon);
    waiting_room->update("Renée", Urgency::Critical);  // took a turn for the worse
    waiting_room->erase("Tomás");                      // went home

    std::ostringstream order;
    for (const char* separator = ""; !waiting_room->empty(); separator = ", ") {
        order << separator << waiting_room->pop();
    }
    std::cout << "Seen in this order: " << order.str() << '\n';
    return order.str().rfind("Renée", 0) == 0 ? 0 : 1;
}
